// A change that came too late: the refusal says who was faster and what they changed.
import { sentence } from '../core/sentences.ts'
import { iso } from '../core/units.ts'
import { changesSince } from '../store/audit/list.ts'
import { StoreError } from '../store/database/errors.ts'
import type { Store } from '../store/database/store.ts'
import { FRAME_ID } from '../store/database/tables.ts'
import { readFrame } from '../store/frame.ts'
import { findKey } from '../store/keys/keys.ts'
import { AdminError } from './error.ts'

/** Runs a change that is based on a version, and explains the refusal if that is no longer the newest. */
export async function refusingStale<Result>(
  store: Store,
  read: { readonly subjectId: string; readonly version: number },
  change: () => Promise<Result>,
): Promise<Result> {
  try {
    return await change()
  } catch (thrown) {
    if (!(thrown instanceof StoreError) || thrown.code !== 'version_conflict') throw thrown
    const newest = await versionOf(store, read.subjectId)
    const changes = await changesSince(store, read)
    const why =
      read.version > Number(newest)
        ? sentence('version_unknown', { version: read.version, newest })
        : (thrown.sentence ?? sentence('frame_changed'))
    throw new AdminError('version_conflict', why, {
      conflict: {
        version: newest,
        changes: changes.map(({ at, actor, action, fields }) => ({
          at: iso(at),
          actor,
          action,
          fields: [...fields],
        })),
      },
    })
  }
}

async function versionOf(store: Store, subjectId: string): Promise<string> {
  const { version } =
    subjectId === FRAME_ID ? await readFrame(store) : await findKey(store, subjectId)
  return String(version)
}
