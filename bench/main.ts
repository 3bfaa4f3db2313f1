// `npm run bench`: the full benchmark. `npm run bench -- --quick`: the main ratio alone. `npm run bench -- --ledger`: the
// ledger alone. `npm run bench -- --publish`: writes the last full run into docs/performance.md. `npm run bench:scale`: a
// full database beside an empty one.

const commands: Readonly<Record<string, () => Promise<number>>> = {
  '': async () => (await import('./full.ts')).full(),
  '--ledger': async () => (await import('./ledger.ts')).ledger(),
  '--quick': async () => (await import('./quick.ts')).quick(),
  '--publish': async () => (await import('./report/files.ts')).publishResults(),
  '--scale': async () => (await import('./scale/scale.ts')).scale(),
}

const [word = '', ...options] = process.argv.slice(2)
const command = commands[word]
if (command === undefined || (options.length > 0 && word !== '--scale')) {
  console.error('usage: npm run bench [-- --quick | --ledger | --publish]')
  process.exitCode = 2
} else process.exitCode = await command()
// Started programs end with this process; only they could keep it alive.
process.exit()
