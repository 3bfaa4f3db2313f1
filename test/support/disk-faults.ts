// Builds disk-faults.c, which makes a disk slow or full for one process. Needs a C compiler and LD_PRELOAD.
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type FaultyDisk = {
  /** The environment of the program that gets this disk. */
  readonly env: Readonly<Record<string, string>>
  fill(): void
  free(): void
  /** From now on every sync takes `slowMs` longer. */
  slow(): void
  /** How many syncs there were since `slow`. */
  syncs(): number
}

export type DiskOptions = {
  /** The folder whose files are affected: a path, or a part of one. */
  readonly folder: string
  /** For the files of the faulty disk itself; not inside `folder`. */
  readonly scratch: string
  readonly slowMs: number
}

/** Why there is no such disk on this machine; undefined when there is. */
export const noFaultyDisk: string | undefined =
  process.platform !== 'linux'
    ? 'a disk can be made slow or full only where LD_PRELOAD works: on Linux'
    : spawnSync('cc', ['--version']).status === 0
      ? undefined
      : 'no C compiler (cc) to build the slow and full disk with'

export function faultyDisk({ folder, scratch, slowMs }: DiskOptions): FaultyDisk {
  const library = join(scratch, 'disk-faults.so')
  const source = fileURLToPath(new URL('./disk-faults.c', import.meta.url))
  const { status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`disk-faults.c cannot be built: ${stderr}`)
  // PostgreSQL may run as another user.
  chmodSync(scratch, 0o755)
  const full = join(scratch, 'full')
  const slow = join(scratch, 'slow')
  return {
    env: {
      LD_PRELOAD: library,
      FAULT_FOLDER: folder,
      FAULT_FULL: full,
      FAULT_SLOW: slow,
      FAULT_SLOW_MS: String(slowMs),
    },
    fill: () => writeFileSync(full, ''),
    free: () => rmSync(full),
    slow: () => {
      writeFileSync(slow, '')
      chmodSync(slow, 0o666)
    },
    syncs: () => statSync(slow).size,
  }
}
