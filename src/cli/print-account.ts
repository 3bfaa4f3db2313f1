// Prints a key or the frame on standard output: as JSON for programs, else as text for people.
import type { Frame } from '../store/frame.ts'
import { frameJson, keyJson } from '../store/key-json.ts'
import type { Key } from '../store/keys.ts'
import type { Store } from '../store/open.ts'
import { findOldSecret } from '../store/shown-secrets.ts'
import type { CommonOptions } from './context.ts'
import { frameText, keyBlock } from './key-text.ts'
import { printJson, printText } from './output.ts'

export async function printKey(store: Store, key: Key, { json }: CommonOptions): Promise<void> {
  if (json) printJson(keyJson(key))
  else printText(keyBlock(key, store.clock.now(), await findOldSecret(store, key.id)))
}

export function printFrame(store: Store, frame: Frame, { json }: CommonOptions): void {
  if (json) printJson(frameJson(frame))
  else printText(frameText(frame, store.clock.now()))
}
