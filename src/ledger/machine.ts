// Names the scope in which a process id is unique. The host name is not enough: machines made from one image share it,
// and so do containers on their machine's network, while each numbers its processes from 1.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export const MACHINE = [hostname(), ...namesOfLinux()].join(' ')

/** This boot of the machine, and the namespace of processes that see each other's ids. */
function namesOfLinux(): readonly string[] {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return [start, readlinkSync('/proc/self/ns/pid')]
  } catch {
    return []
  }
}
