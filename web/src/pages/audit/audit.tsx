// The page of the audit log, with its filters.
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { AUDIT_SOURCES, AUDIT_SUBJECTS, auditRoutes } from '../../../../src/admin/contract/audit.ts'
import { AUDIT_OUTCOMES, type AuditSearch, spanned } from '../../base/address.ts'
import { addressOf, call } from '../../base/api.ts'
import { pagesQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, CsvButton, DayFilters, Toolbar, TypedFilter } from '../../parts/filters.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { AuditLog } from './audit-log.tsx'

const route = getRouteApi('/app/settings/audit')

export function AuditPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const csv = addressOf(auditRoutes.exportAudit, { query: spanned(search) })
  return (
    <>
      <PageHeader
        title={t('nav.audit')}
        about={t('auditPage.about')}
        actions={<CsvButton href={csv} name="audit.csv" />}
      />
      <AuditFilters search={search} />
      <AuditEntries
        search={search}
        none={{ title: t('auditPage.none'), about: t('auditPage.noneAbout') }}
      />
    </>
  )
}

type SearchProps = { readonly search: AuditSearch }

function AuditFilters({ search }: SearchProps) {
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  const change = (next: Partial<AuditSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  return (
    <Toolbar>
      <Choice
        label={t('auditPage.subject')}
        value={search.subject}
        values={AUDIT_SUBJECTS}
        wordOf={(subject) => t(`auditPage.subjects.${subject}`)}
        // An id belongs to one kind of subject.
        onChoose={(subject) => change({ subject, subject_id: undefined })}
      />
      <TypedFilter
        label={t('auditPage.actor')}
        placeholder={t('filter.any')}
        value={search.actor}
        onChange={(actor) => change({ actor })}
      />
      <Choice
        label={t('auditPage.source')}
        value={search.source}
        values={AUDIT_SOURCES}
        wordOf={(source) => t(`audit.source.${source}`)}
        onChoose={(source) => change({ source })}
      />
      <Choice
        label={t('requests.outcome')}
        value={search.outcome}
        values={AUDIT_OUTCOMES}
        wordOf={(outcome) => t(`auditPage.outcomes.${outcome}`)}
        onChoose={(outcome) => change({ outcome })}
      />
      <DayFilters search={search} onChange={change} />
    </Toolbar>
  )
}

type AuditEntriesProps = SearchProps & Pick<ComponentProps<typeof AuditLog>, 'none'>

/** Also used on pages that show the log of one subject. */
export function AuditEntries({ search, none }: AuditEntriesProps) {
  const log = useInfiniteQuery(
    pagesQuery(['audit', search], (before, signal) =>
      call(auditRoutes.listAudit, { query: { ...spanned(search), before }, signal }),
    ),
  )
  return <AuditLog log={log} none={none} withSubject />
}
