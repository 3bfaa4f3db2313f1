// A supervisor whose workers are killed before they serve.
import { isWorker, superviseWorkers } from '../../../src/cli/serve/workers.ts'
import { loadConfig } from '../../../src/config/load.ts'

const source = { env: process.env, folder: process.cwd() }
if (isWorker) process.kill(process.pid, 'SIGKILL')
else superviseWorkers({ config: loadConfig(source), source, onServing: () => {} })
