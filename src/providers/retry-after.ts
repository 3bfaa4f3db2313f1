// How long a provider wants to be left alone, in seconds, as its headers say: some tell milliseconds beside the standard.

export function retryAfterOf(headers: ReadonlyMap<string, string>): number | undefined {
  const seconds = Number(headers.get('retry-after-ms')) / 1000 || Number(headers.get('retry-after'))
  return seconds > 0 ? seconds : undefined
}
