// `npm run bench`: the full benchmark. `npm run bench -- --quick`: the main ratio alone. `npm run bench -- --ledger`: the
// ledger alone. `npm run bench -- --burst`: many calls at once against a small budget. `npm run bench -- --steps`: where
// the time of one request goes. `npm run bench -- --tracing`: what traces cost. `npm run bench -- --against COMMIT`: this
// checkout beside another commit; `--pages COMMIT`: its interface; `--postgres COMMIT`: both on PostgreSQL.
// `npm run bench -- --publish`: writes the last full run into docs/performance.md.
// `npm run bench:scale`: a full database beside an empty one.

type Command = (options: readonly string[]) => Promise<number>

const commands: Readonly<Record<string, Command>> = {
  '': async () => (await import('./full.ts')).full(),
  '--against': async ([commit = '']) => (await import('./against.ts')).against(commit),
  '--burst': async () => (await import('./burst.ts')).burst(),
  '--ledger': async () => (await import('./ledger.ts')).ledger(),
  '--pages': async ([commit = '']) => (await import('./pages.ts')).pages(commit),
  '--postgres': async ([commit = '']) => (await import('./postgres.ts')).onPostgres(commit),
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
