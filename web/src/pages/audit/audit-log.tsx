// The audit log: who changed what, when, from where, the values before and after; and refused attempts.
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { AuditEntryAnswer } from '../../../../src/admin/contract/audit.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { LoadMore } from '../../parts/data-table.tsx'
import { HistoryIcon, WarningIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, QueryError } from '../../parts/notices.tsx'
import styles from './audit-log.module.css'
import { recordedLine } from './change-lines.ts'
import { ChangeList } from './change-list.tsx'

type Page = { readonly entries: readonly AuditEntryAnswer[] }

type AuditLogProps = {
  readonly log: UseInfiniteQueryResult<InfiniteData<Page>>
  /** Shown if there are no entries. */
  readonly none: { readonly title: string; readonly about: string }
  /** Name the subject of each entry, for logs that mix subjects. */
  readonly withSubject?: boolean
}

export function AuditLog({ log, none, withSubject = false }: AuditLogProps) {
  const { t } = useTranslation()
  const entries = log.data?.pages.flatMap((page) => page.entries)
  if (log.error && !entries) return <QueryError title={t('audit.failed')} query={log} />
  if (!entries) return <Loading lines={5} height={48} />
  return (
    <>
      <div className={`card ${styles['flush']}`}>
        {entries.length === 0 ? (
          <EmptyState isBare icon={HistoryIcon} {...none} />
        ) : (
          <ol className={styles['list']}>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} withSubject={withSubject} />
            ))}
          </ol>
        )}
      </div>
      <LoadMore query={log} />
    </>
  )
}

type EntryProps = { readonly entry: AuditEntryAnswer; readonly withSubject: boolean }

function Entry({ entry, withSubject }: EntryProps) {
  const { t, format } = useTranslation()
  const refusedWord = [
    t('audit.refused'),
    ...(entry.count > 1 ? [t('audit.times', { count: entry.count })] : []),
  ].join(', ')
  const from = [t(`audit.source.${entry.source}`), entry.address].filter(Boolean).join(', ')
  return (
    <li className={styles['entry']}>
      <div className={styles['when']}>
        <time dateTime={entry.at}>{format.exactTime(entry.at)}</time>
        <div>{from}</div>
      </div>
      <div>
        <p className={styles['what']}>
          <strong>{entry.actor === strangerActor ? t('audit.stranger') : entry.actor}</strong>{' '}
          <ActionWords entry={entry} withSubject={withSubject} />{' '}
          {entry.outcome === 'refused' && (
            <StatusBadge tone="bad" icon={WarningIcon} word={refusedWord} />
          )}
        </p>
        {entry.reason && (
          <p className={styles['what']}>
            {t('audit.because', { reason: said({ message: entry.reason, ...entry.refusal }) })}
          </p>
        )}
        <Changes entry={entry} />
      </div>
    </li>
  )
}

/** Creating something sets many values at once; beyond this many they are collapsed. */
const shownMax = 3

function Changes({ entry: { fields } }: Pick<EntryProps, 'entry'>) {
  const words = useTranslation()
  const lines = fields.map((field) => recordedLine(field, words))
  if (lines.length <= shownMax) return <ChangeList lines={lines} />
  return (
    <details className={styles['more']}>
      <summary>{words.t('audit.values', { count: lines.length })}</summary>
      <ChangeList lines={lines} />
    </details>
  )
}

/** The actor the gateway records for someone who is not signed in. */
const strangerActor = 'not signed in'

/** The gateway may know actions that the catalogue lacks; those show under the gateway's own name. */
function ActionWords({ entry, withSubject }: EntryProps) {
  const { find } = useTranslation()
  const { action, outcome } = entry
  const name = withSubject ? subjectWords(entry) : ''
  const section = outcome === 'refused' ? 'audit.tried' : 'audit.action'
  return find(`${section}.${action.replace('.', '_')}`, { name }) ?? `${action}${name}`
}

/** Empty if people act on their own account, and for attempts that concern nothing that exists. */
function subjectWords({ subject_name: name, subject_id: id, actor }: AuditEntryAnswer): string {
  const called = name ?? id
  return called === '' || called === actor ? '' : ` ${called}`
}
