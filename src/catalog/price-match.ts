// Whether the model that the price data found for a name is really that model. The data also matches parts of names, so
// a variant that it does not know, such as a faster or newer one, would get the price of another.
import type { MatchLogic } from '@pydantic/genai-prices'

/** Suffixes that do not make it another model: dates, versions, windows, stages. */
const DRESS =
  /^(?:[-@]\d{2,8}|-v\d+(?:\.\d+)?|:\d+k?|[-@](?:latest|default)|-(?:preview|exp|it|instruct|customtools))*$/

/** Fine-tuned models have names of the customer's choice. */
const TUNED = /^ft:|\.ft-/

export function isSameModel(name: string, match: MatchLogic): boolean {
  const meant = name.trim().toLowerCase()
  if (TUNED.test(meant)) return true
  const parts = partsOf(match).filter((part) => meant.includes(part))
  // Without any, it was found by a pattern, which already covers the whole name.
  if (parts.length === 0) return true
  return parts.some((part) => DRESS.test(meant.slice(meant.indexOf(part) + part.length)))
}

/** The names and parts of names that match a model. */
function partsOf(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(partsOf)
  if ('and' in match) return match.and.flatMap(partsOf)
  if ('regex' in match) return []
  return Object.values<string>(match).map((part) => part.toLowerCase().replace(/[-@]$/, ''))
}
