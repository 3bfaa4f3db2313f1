// A supervisor whose workers are killed before they serve.
import { isWorker, superviseWorkers } from '../../src/cli/workers.ts'

if (isWorker) process.kill(process.pid, 'SIGKILL')
else superviseWorkers(2, () => {})
