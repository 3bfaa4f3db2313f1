// The handlers of /audit: who changed what, as JSON and for spreadsheets.
import { csvText } from '../../core/text.ts'
import { iso } from '../../core/units.ts'
import { listAudit, type AuditEntry, type AuditFilter } from '../../store/audit/list.ts'
import type { AuditEntryAnswer, AuditQuery, auditRoutes } from '../contract/audit.ts'
import type { AdminParts, HandlersOf } from '../http/request.ts'

const EXPORTED_MAX = 10_000

export function auditHandlers({ store }: AdminParts): HandlersOf<typeof auditRoutes> {
  async function page(filter: AuditFilter) {
    // One more than requested shows whether there is a next page.
    const found = await listAudit(store, { ...filter, limit: filter.limit + 1 })
    const entries = found.slice(0, filter.limit)
    const next = found.length > filter.limit ? (entries.at(-1)?.id ?? null) : null
    return { entries: entries.map(entryOf), next }
  }

  return {
    listAudit: ({ query }) => page(filterOf(query)),
    exportAudit: async ({ query }) => {
      const filter = filterOf({ ...query, limit: EXPORTED_MAX })
      const entries = (await listAudit(store, filter)).map(entryOf)
      return csvText([...EXPORTED, 'changes'], entries.map(cellsOf))
    },
    listKeyActivity: ({ params, query }) => page({ ...query, subjectId: params.id }),
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
