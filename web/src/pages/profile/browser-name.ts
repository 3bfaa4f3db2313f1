// The browser and system behind a User-Agent, by names people recognise. A hint, never proof.

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

export function browserName(agent: string | null): string | undefined {
  if (agent === null || agent === '') return undefined
  const names = [browsers, systems].flatMap(
    (known) => known.find(([pattern]) => pattern.test(agent))?.[1] ?? [],
  )
  return names.length === 0 ? agent.slice(0, 60) : names.join(', ')
}
