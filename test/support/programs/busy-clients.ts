// A program that keeps a gateway busy from a separate process, so that what a test times meanwhile waits for the
// gateway and not for these clients: `busy-clients.ts URL SECRET CLIENTS`. Prints a dot for each good answer, and ends
// after SIGTERM as soon as every client has its answer.
import { callSandbox } from '../sandbox.ts'

const [url = '', secret = '', clients = ''] = process.argv.slice(2)
let isOver = false
process.on('SIGTERM', () => (isOver = true))
await Promise.all(
  Array.from({ length: Number(clients) }, async () => {
    while (!isOver) if ((await callSandbox(url, secret)) === 200) process.stdout.write('.')
  }),
)
