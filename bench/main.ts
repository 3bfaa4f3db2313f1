// `npm run bench`: all of it. `npm run bench -- --quick`: the main ratio alone.
import { quick } from './quick.ts'

const [word, ...more] = process.argv.slice(2)
if (word === '--quick' && more.length === 0) process.exitCode = await quick()
else {
  console.error('usage: npm run bench -- --quick')
  process.exitCode = 2
}
// What was started ends with this process, and it alone could keep it waiting.
process.exit()
