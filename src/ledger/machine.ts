// Where the number of a process names one process: machines made from one image share a name, and so do containers that
// use the network of their machine, while each counts its processes from 1.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export const MACHINE = [hostname(), ...namesOfLinux()].join(' ')

/** This start of the machine, and those processes that see each other's numbers. */
function namesOfLinux(): readonly string[] {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return [start, readlinkSync('/proc/self/ns/pid')]
  } catch {
    return []
  }
}
