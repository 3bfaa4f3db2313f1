// Prints a key or the frame on standard output: as JSON for programs, else as text for people.
import type { Store } from '../store/database/store.ts'
import { frameJson, type Frame } from '../store/frame.ts'
import { readAllocated } from '../store/keys/counts.ts'
import { keyJson } from '../store/keys/keys.ts'
import type { Key } from '../store/keys/keys.ts'
import { findOldSecret } from '../store/keys/secrets.ts'
import type { CommonOptions } from './context.ts'
import { frameText, keyBlock } from './key-text.ts'
import { printJson, printText } from './output.ts'

export async function printKey(store: Store, key: Key, { json }: CommonOptions): Promise<void> {
  if (json) printJson(keyJson(key))
  else printText(keyBlock(key, store.clock.now(), await findOldSecret(store, key.id)))
}

export async function printFrame(
  store: Store,
  frame: Frame,
  { json }: CommonOptions,
): Promise<void> {
  const allocated = await readAllocated(store)
  if (json) printJson(frameJson(frame, allocated))
  else printText(frameText(frame, allocated, store.clock.now()))
}
