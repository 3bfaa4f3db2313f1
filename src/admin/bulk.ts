// One change for many keys. Each key succeeds or fails alone, and the answer says which.
import type { Store } from '../store/database/store.ts'
import { pauseKey, resumeKey, revokeKey, updateKey } from '../store/keys/changes.ts'
import { keyNames } from '../store/keys/keys.ts'
import type { HandlersOf } from './call.ts'
import type { keyRoutes } from './contract/keys.ts'
import type { AdminError } from './error.ts'
import { changeOf } from './key-bodies.ts'
import { errorJson, toAdminError } from './render-error.ts'

type BulkHandler = HandlersOf<typeof keyRoutes>['changeKeys']
type Change = Parameters<BulkHandler>[0]['body']['change']

export async function changeMany(
  store: Store,
  { body, requestId }: Pick<Parameters<BulkHandler>[0], 'body' | 'requestId'>,
): Promise<Awaited<ReturnType<BulkHandler>>> {
  const ids = [...new Set(body.ids)]
  const names = await keyNames(store, ids)
  const results = []
  for (const id of ids) {
    const error = await changeOne(store, id, body.change)
    const told = error === null ? null : errorJson(error, requestId).error
    results.push({ id, name: names.get(id) ?? null, error: told })
  }
  return { results }
}

/** Null on success. */
async function changeOne(store: Store, id: string, change: Change): Promise<AdminError | null> {
  try {
    switch (change.action) {
      case 'pause':
        await pauseKey(store, id)
        break
      case 'resume':
        await resumeKey(store, id)
        break
      case 'revoke':
        await revokeKey(store, id, change.reason)
        break
      case 'update': {
        const { add_tags: addTags, remove_tags: removeTags, ...settings } = change.settings
        await updateKey(store, id, { ...changeOf(settings), addTags, removeTags })
        break
      }
    }
    return null
  } catch (thrown) {
    const error = toAdminError(thrown)
    // An outage concerns all keys: it ends the request, instead of being reported a thousand times.
    if (error.status >= 500) throw error
    return error
  }
}
