// `npm run drill -- NAME [option…]`: rehearses what an operator hopes never to need, at full size, and prints figures.
// Each file of scripts/drills is a drill; npm test has a short form of each.
import { readdirSync } from 'node:fs'

/** What a file of scripts/drills exports; throws when something is not as it must be. */
export type Drill = {
  readonly summary: string
  readonly run: (options: readonly string[]) => Promise<void>
}

const folder = new URL('drills/', import.meta.url)
const [name = '', ...options] = process.argv.slice(2)
const names = readdirSync(folder).flatMap((file) => /^(.*)\.ts$/.exec(file)?.[1] ?? [])
const drillOf = async (each: string): Promise<Drill> =>
  ((await import(new URL(`${each}.ts`, folder).href)) as { readonly drill: Drill }).drill

if (names.includes(name)) {
  await (await drillOf(name)).run(options)
  console.log(`${name}: passed`)
} else {
  console.log('npm run drill -- NAME:')
  for (const each of names) console.log(`  ${each}: ${(await drillOf(each)).summary}`)
  process.exitCode = 1
}
// Only what was started for the drill, such as PostgreSQL, could keep this process alive, and it ends with it.
process.exit()
