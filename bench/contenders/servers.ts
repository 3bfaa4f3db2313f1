// The upstream and the bare proxy, started.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GATEWAY_CORE, LOAD_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'

const READY = /listening on (\S+)/

export function startUpstream(folder: string): Promise<Running> {
  return start({
    name: 'upstream',
    command: [process.execPath, fileOf('upstream.ts')],
    core: LOAD_CORE,
    logFile: join(folder, 'upstream.log'),
    ready: READY,
  })
}

export function startBareProxy(folder: string, upstream: string): Promise<Running> {
  return start({
    name: 'bare proxy',
    command: [process.execPath, fileOf('bare-proxy.ts')],
    core: GATEWAY_CORE,
    env: { UPSTREAM: upstream },
    logFile: join(folder, 'bare-proxy.log'),
    ready: READY,
  })
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
