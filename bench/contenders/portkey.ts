// Portkey, the best-known gateway on Node, from npm and as its users start it. Here it has no keys, budgets or books:
// it does not check who may call or how much they may spend.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDependencies } from '../../scripts/checkout.mjs'
import { freePort } from '../../test/support/process.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import { needsKeys } from '../workloads.ts'
import type { Contender } from './contender.ts'
import type { Upstreams } from './servers.ts'

export const PORTKEY = 'Portkey'

const PEERS = fileURLToPath(new URL('../peers', import.meta.url))

export async function startPortkey(folder: string, upstreams: Upstreams): Promise<Contender> {
  await ensureDependencies(PEERS)
  const port = await freePort()
  const program = join(PEERS, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const { pid, startMs } = await start({
    name: PORTKEY,
    command: [process.execPath, program, `--port=${port}`, '--headless'],
    core: GATEWAY_CORE,
    env: { NODE_ENV: 'production' },
    logFile: join(folder, 'portkey.log'),
    ready: /Ready for connections/,
  })
  return {
    name: PORTKEY,
    pid,
    startMs,
    wayOf: (workload) => {
      if (needsKeys(workload)) return undefined
      const { url } = workload.isStream ? upstreams.streams : upstreams.whole
      const target = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${url}/v1` }
      const headers = [{ authorization: 'Bearer none', ...target }]
      return { url: `http://127.0.0.1:${port}`, headers }
    },
  }
}
