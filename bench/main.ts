// `npm run bench`: all of it. `npm run bench -- --quick`: the main ratio alone. `npm run bench -- --publish`: the last whole
// run into docs/performance.md. `npm run bench:scale`: a full database instead of an empty one.
import { full } from './full.ts'
import { quick } from './quick.ts'
import { publishResults } from './report/files.ts'

const words = process.argv.slice(2)
const commands: Readonly<Record<string, () => Promise<number> | void>> = {
  '': full,
  '--quick': quick,
  '--publish': publishResults,
}
const command = commands[words.join(' ')]
if (command === undefined) {
  console.error('usage: npm run bench [-- --quick | --publish]')
  process.exitCode = 2
} else process.exitCode = (await command()) ?? 0
// What was started ends with this process, and it alone could keep it waiting.
process.exit()
