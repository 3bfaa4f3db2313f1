// The machine of a run, as far as it explains the figures; nothing identifies it.
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { arch, cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { findNginx } from './contenders/nginx.ts'
import { loadProgram } from './load/load.ts'
import { median } from './measuring.ts'

export type Machine = {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  /** The time the disk takes to make one small write durable, of many in a row: every ledger on it waits for that. */
  readonly commitUs: number
  /** The same for one that comes alone, as those of a gateway do: where a disk is shared, it may have turned to others. */
  readonly commitAloneUs: number
  readonly load: string
  readonly upstream: string
}

export function describeMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()} (${type()} ${release().split('-')[0]}, ${arch()})`,
    node: process.version,
    commitUs: commitUs(folder, 0),
    commitAloneUs: commitUs(folder, ALONE_MS),
    load: loadProgram(),
    upstream: findNginx() === undefined ? 'Node' : 'nginx',
  }
}

export function machineText(machine: Machine): string {
  return [
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB`,
    `${machine.system}, Node ${machine.node}`,
    `load by ${machine.load}, whole answers by ${machine.upstream}, streams by Node`,
    `the disk commits in ${machine.commitUs} µs, in ${machine.commitAloneUs} after a pause of ${ALONE_MS} ms`,
  ].join('; ')
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
  } catch {
    return 'unknown system'
  }
}

const COMMITS = 200
const COMMIT_BYTES = 4_096
/** Between the writes of a busy gateway, which each hold many requests. */
const ALONE_MS = 2

const NOTHING = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

function commitUs(folder: string, pauseMs: number): number {
  const file = join(folder, 'commits')
  const handle = openSync(file, 'w')
  const page = Buffer.alloc(COMMIT_BYTES, 1)
  const timesUs = Array.from({ length: COMMITS }, () => {
    Atomics.wait(NOTHING, 0, 0, pauseMs)
    const from = performance.now()
    writeSync(handle, page)
    fdatasyncSync(handle)
    return (performance.now() - from) * 1000
  })
  closeSync(handle)
  rmSync(file)
  return Math.round(median(timesUs))
}
