// Loaded into a gateway (NODE_OPTIONS=--import): its SQLite thread dies as soon as the file that DIE_WHEN names exists.
import { existsSync } from 'node:fs'
import { threadName } from 'node:worker_threads'

if (threadName === 'sqlite') {
  setInterval(() => {
    if (existsSync(process.env['DIE_WHEN'] ?? '')) process.exit(3)
  }, 10).unref()
}
