// Well-known places that speak OpenAI's formats: where they are, how they differ, and by which list they bill. A place is
// known by its preset, or by its host in an address that the operator wrote.
import type { Vendor } from '../catalog/main-models.ts'

export type Place = {
  readonly url: string
  /** The price library's list of it. */
  readonly prices?: string
  /** Whose main models it serves. */
  readonly vendor?: Vendor
  /** People run it themselves, and it mostly asks for no key. */
  readonly isLocal?: true
  /** It knows the newer words of chat completions, as OpenAI does; others are told the older ones. */
  readonly isCurrent?: true
  /** It refuses what it does not know. */
  readonly isStrict?: true
  /** OpenAI itself: it speaks responses, too. */
  readonly isOpenAi?: true
}

export const PLACES = {
  openai: {
    url: 'https://api.openai.com/v1',
    prices: 'openai',
    vendor: 'openai',
    isCurrent: true,
    isOpenAi: true,
  },
  mistral: {
    url: 'https://api.mistral.ai/v1',
    prices: 'mistral',
    vendor: 'mistral',
    isStrict: true,
  },
  groq: {
    url: 'https://api.groq.com/openai/v1',
    prices: 'groq',
    vendor: 'groq',
    isCurrent: true,
  },
  deepseek: { url: 'https://api.deepseek.com/v1', prices: 'deepseek', vendor: 'deepseek' },
  xai: { url: 'https://api.x.ai/v1', prices: 'x-ai', vendor: 'xai', isCurrent: true },
  together: { url: 'https://api.together.xyz/v1', prices: 'together' },
  openrouter: { url: 'https://openrouter.ai/api/v1', prices: 'openrouter', isCurrent: true },
  vllm: { url: 'http://127.0.0.1:8000/v1', isLocal: true },
  llamacpp: { url: 'http://127.0.0.1:8080/v1', isLocal: true },
  ollama: { url: 'http://127.0.0.1:11434/v1', isLocal: true },
} satisfies Record<string, Place>

type Preset = keyof typeof PLACES

export const PRESETS = Object.keys(PLACES) as [Preset, ...Preset[]]

/** Of a place that only the operator knows it is safest to assume little. */
export function placeOf(at: {
  readonly baseUrl?: string | undefined
  readonly preset?: Preset | undefined
}): Place {
  const { baseUrl, preset } = at
  if (baseUrl === undefined) return PLACES[preset ?? 'openai']
  return { ...(preset === undefined ? placeAt(baseUrl) : PLACES[preset]), url: baseUrl }
}

/** As at eu.api.openai.com. */
export function isInOpenAiRegion(baseUrl = PLACES.openai.url): boolean {
  return hostOf(baseUrl).endsWith(`.${hostOf(PLACES.openai.url)}`)
}

/** By its host, or one below it, such as that of a region. */
function placeAt(address: string): Partial<Place> {
  const host = hostOf(address)
  const places: readonly Place[] = Object.values(PLACES)
  const isThere = ({ url }: Place): boolean =>
    host === hostOf(url) || host.endsWith(`.${hostOf(url)}`)
  return places.find((place) => place.isLocal !== true && isThere(place)) ?? {}
}

function hostOf(address: string): string {
  return new URL(address).host
}
