// Whether the model that the price data found for a name is the one that is meant. The data also goes by parts of names,
// and a variant that it does not know, such as a faster or a newer one, would have the price of another.
import type { MatchLogic } from '@pydantic/genai-prices'

/** What a name may say after that of the model without meaning another one: dates, versions, windows, stages. */
const DRESS =
  /^(?:[-@]\d{2,8}|-v\d+(?:\.\d+)?|:\d+k?|[-@](?:latest|default)|-(?:preview|exp|it|instruct|customtools))*$/

/** Whoever tunes a model names it as they like. */
const TUNED = /^ft:|\.ft-/

export function isSameModel(name: string, match: MatchLogic): boolean {
  const meant = name.trim().toLowerCase()
  if (TUNED.test(meant)) return true
  const parts = partsOf(match).filter((part) => meant.includes(part))
  // Without any it was found by a pattern, which says all that may follow.
  if (parts.length === 0) return true
  return parts.some((part) => DRESS.test(meant.slice(meant.indexOf(part) + part.length)))
}

/** The names and parts of names that a model is found by. */
function partsOf(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(partsOf)
  if ('and' in match) return match.and.flatMap(partsOf)
  if ('regex' in match) return []
  return Object.values<string>(match).map((part) => part.toLowerCase().replace(/[-@]$/, ''))
}
