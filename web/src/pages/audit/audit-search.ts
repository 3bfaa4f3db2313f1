// The state of the audit log that is kept in the address.
import { z } from 'zod'
import { AUDIT_SOURCES, AUDIT_SUBJECTS } from '../../../../src/admin/contract/audit.ts'
import { addressText } from '../../address-text.ts'
import { day, endOfDay, startOfDay } from '../../days.ts'

export const AUDIT_OUTCOMES = ['done', 'refused'] as const

export const auditSearch = z.object({
  subject: z.enum(AUDIT_SUBJECTS).optional().catch(undefined),
  subject_id: addressText,
  actor: addressText,
  source: z.enum(AUDIT_SOURCES).optional().catch(undefined),
  outcome: z.enum(AUDIT_OUTCOMES).optional().catch(undefined),
  from: day,
  to: day,
})
export type AuditSearch = z.output<typeof auditSearch>

export function auditFiltersOf({ from, to, ...rest }: AuditSearch) {
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}
