// `npm run bench`: the full benchmark. `npm run bench -- --quick`: the main ratio alone. `npm run bench -- --ledger`: the
// ledger alone. `npm run bench -- --burst`: many calls at once against a small budget. `npm run bench -- --steps`: where
// the time of one request goes. `npm run bench -- --tracing`: what traces cost. `npm run bench -- --against COMMIT`: this
// checkout beside another commit; `--pages COMMIT`: its interface; `--postgres COMMIT`: both on PostgreSQL.
// `npm run bench -- --publish`: writes the last full run into docs/performance.md.
// `npm run bench:scale`: a full database beside an empty one.

import type { Checkout } from './checkout.ts'

type Command = (options: readonly string[]) => Promise<number>

const commands: Readonly<Record<string, Command>> = {
  '': async () => (await import('./full.ts')).full(),
  '--against': beside(async (other) => (await import('./against.ts')).against(other)),
  '--burst': async () => (await import('./burst.ts')).burst(),
  '--ledger': async () => (await import('./ledger.ts')).ledger(),
  '--pages': beside(async (other) => (await import('./pages.ts')).pages(other)),
  '--postgres': beside(async (other) => (await import('./postgres.ts')).onPostgres(other)),
  '--quick': async () => (await import('./quick.ts')).quick(),
  '--publish': async () => (await import('./report/files.ts')).publishResults(),
  '--steps': async () => (await import('./steps/steps.ts')).steps(),
  '--tracing': async () => (await import('./tracing.ts')).tracing(),
  '--scale': async () => (await import('./scale/scale.ts')).scale(),
}

const [word = '', ...options] = process.argv.slice(2)
const command = commands[word]
const isOption = ['--against', '--pages', '--postgres'].includes(word)
  ? options.length === 1
  : options.length === 0
if (command === undefined || (!isOption && word !== '--scale')) {
  console.error(
    'usage: npm run bench [-- --quick | --ledger | --burst | --steps | --tracing | --against COMMIT | --pages COMMIT | --postgres COMMIT | --publish]',
  )
  process.exitCode = 2
} else process.exitCode = await command(options)
// Started programs end with this process; only they could keep it alive.
process.exit()

/** Measures another commit beside this checkout. */
function beside(measure: (other: Checkout) => Promise<number>): Command {
  return async ([revision = '']) => {
    const { checkOut } = await import('./checkout.ts')
    const other = checkOut(revision)
    if (other !== undefined) return measure(other)
    console.error(`there is no commit "${revision}" in this repository`)
    return 2
  }
}
