// The record of every change (who, when, what, before and after) and of every refused attempt.
import { z } from 'zod'

import { fieldChange } from './errors.ts'
import { route } from './route.ts'
import { moment, page, range } from './values.ts'

export const AUDIT_SUBJECTS = ['key', 'group', 'frame', 'person', 'role', 'token', 'alert'] as const
export const AUDIT_SOURCES = ['ui', 'api', 'cli'] as const

const filters = {
  subject: z.enum(AUDIT_SUBJECTS).optional(),
  subject_id: z.string().optional(),
  actor: z.string().optional(),
  action: z.string().optional(),
  source: z.enum(AUDIT_SOURCES).optional(),
  outcome: z.enum(['done', 'refused']).optional(),
  ...range,
}

const auditQuery = z.object({ ...filters, ...page })

const auditEntry = z.object({
  id: z.string(),
  at: moment,
  /** An e-mail address, or the system account that ran the command line. */
  actor: z.string(),
  source: z.enum(AUDIT_SOURCES),
  /** Where the request came from; null for the command line. */
  address: z.string().nullable(),
  /** Such as `key.create` or `frame.change`, for refused attempts too. */
  action: z.string(),
  /** One of AUDIT_SUBJECTS. */
  subject: z.string(),
  subject_id: z.string(),
  /** Its name at that time. */
  subject_name: z.string().nullable(),
  outcome: z.enum(['done', 'refused']),
  /** Why it was done, or why it was refused. */
  reason: z.string().nullable(),
  /** The reason for a refusal by name, with its values, for showing it in another language. */
  refusal: z
    .object({ reason: z.string(), values: z.record(z.string(), z.union([z.string(), z.number()])) })
    .nullable(),
  /** How often it was tried: equal refusals within a minute are one entry. */
  count: z.int(),
  fields: z.array(fieldChange),
  request_id: z.string().nullable(),
})

const auditPage = z.object({ entries: z.array(auditEntry), next: z.string().nullable() })

export const auditRoutes = {
  listAudit: route('GET /audit', 'audit:read', {
    reach: 'groups',
    summary: 'Changes and refused attempts, newest first',
    query: auditQuery,
    answer: auditPage,
  }),
  exportAudit: route('GET /audit.csv', 'audit:read', {
    reach: 'groups',
    summary: 'The newest 10,000 of them as comma-separated values',
    query: z.object(filters),
    answer: z.string(),
    media: 'text/csv',
  }),
  listKeyActivity: route('GET /keys/:id/activity', 'audit:read', {
    reach: 'groups',
    summary: 'Changes to one key, newest first',
    query: z.object(page),
    answer: auditPage,
  }),
}

export type AuditQuery = z.output<typeof auditQuery>
export type AuditEntryAnswer = z.output<typeof auditEntry>
