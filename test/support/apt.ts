// The tests' last resort for a program that is neither installed nor on npm: the system's packages, as root.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Tries to install a package; to see whether that helped, the caller looks for the program again. */
export function installWithApt(name: string): void {
  const isOffline = process.env['TOLLGATE_OFFLINE'] === '1'
  if (isOffline || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  console.error(`tollgate: installing ${name} with apt-get for the tests`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-qq'], { env })
  // Another test file may be installing something.
  const patience = ['-o', 'DPkg::Lock::Timeout=120']
  spawnSync('apt-get', ['install', '-qq', '-y', ...patience, name], { env })
}
