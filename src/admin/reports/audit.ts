// The handlers of /audit: who changed what, as JSON and for spreadsheets.
import { csvText } from '../../core/text.ts'
import { iso } from '../../core/units.ts'
import { listAudit, type AuditEntry, type AuditFilter } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { findKey } from '../../store/keys/keys.ts'
import type { AuditEntryAnswer, AuditQuery, auditRoutes } from '../contract/audit.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'

const EXPORTED_MAX = 10_000

export function auditHandlers(parts: AdminParts): HandlersOf<typeof auditRoutes> {
  async function page(store: Store, filter: AuditFilter) {
    // One more than requested shows whether there is a next page.
    const found = await listAudit(store, { ...filter, limit: filter.limit + 1 })
    const entries = found.slice(0, filter.limit)
    const next = found.length > filter.limit ? (entries.at(-1)?.id ?? null) : null
    return { entries: entries.map(entryOf), next }
  }

  return {
    listAudit: (request) => page(storeOf(parts, request), filterOf(request.query)),
    exportAudit: async (request) => {
      const filter = filterOf({ ...request.query, limit: EXPORTED_MAX })
      const entries = (await listAudit(storeOf(parts, request), filter)).map(entryOf)
      return csvText([...EXPORTED, 'changes'], entries.map(cellsOf))
    },
    listKeyActivity: async (request) => {
      const store = storeOf(parts, request)
      const { id: subjectId } = await findKey(store, request.params.id)
      return page(store, { ...request.query, subjectId })
    },
  }
}

function filterOf({ subject_id: subjectId, ...rest }: AuditQuery): AuditFilter {
  return { ...rest, subjectId }
}

function entryOf(entry: AuditEntry): AuditEntryAnswer {
  const { at, subjectId, subjectName, sentence, fields, requestId, ...same } = entry
  return {
    ...same,
    at: iso(at),
    subject_id: subjectId,
    subject_name: subjectName,
    refusal: sentence && { reason: sentence.name, values: sentence.values },
    fields: [...fields],
    request_id: requestId,
  }
}

const EXPORTED = [
  'at',
  'actor',
  'source',
  'address',
  'action',
  'subject',
  'subject_id',
  'subject_name',
  'outcome',
  'count',
  'reason',
] as const

function cellsOf(entry: AuditEntryAnswer): readonly (string | number | null)[] {
  const changes = entry.fields.map(
    ({ field, before, after }) => `${field}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
  )
  return [...EXPORTED.map((name) => entry[name]), changes.join('; ')]
}
