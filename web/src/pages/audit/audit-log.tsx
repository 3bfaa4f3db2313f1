// The audit log: who changed what, when, from where, the values before and after; and refused attempts.
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AuditEntryAnswer } from '../../../../src/admin/contract/audit.ts'
import { useSession } from '../../base/session.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { LoadMore, useFold } from '../../parts/data-table.tsx'
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
  const fold = useFold(entries?.length ?? 0)
  if (log.error && !entries) return <QueryError title={t('audit.failed')} query={log} />
  if (!entries) return <Loading lines={5} height={48} />
  return (
    <>
      <div className={`card ${styles['flush']}`}>
        {entries.length === 0 ? (
          <EmptyState isBare icon={HistoryIcon} {...none} />
        ) : (
          <ol className={`${styles['list']} ${fold.className ?? ''}`}>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} withSubject={withSubject} />
            ))}
          </ol>
        )}
      </div>
      {fold.button}
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
          <Actor actor={entry.actor} /> <ActionWords entry={entry} withSubject={withSubject} />{' '}
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

function Changes({ entry: { action, fields } }: Pick<EntryProps, 'entry'>) {
  const words = useTranslation()
  // Before something is created nothing is set, not even that it never expires.
  const isNew = action.endsWith('.create')
  const lines = fields.map((field) => ({
    ...recordedLine(field, words),
    ...(isNew && { before: '' }),
  }))
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

/** Who did it, leading to all that they did. */
function Actor({ actor }: Pick<AuditEntryAnswer, 'actor'>) {
  const { t } = useTranslation()
  if (actor === strangerActor) return <strong>{t('audit.stranger')}</strong>
  return (
    <Link className={styles['actor']} to="/settings/audit" search={{ actor }}>
      {actor}
    </Link>
  )
}

/** Stands for the subject in the words of an action, and in no name. */
const place = '\n'

/** The gateway may know actions that the catalogue lacks; those show under the gateway's own name. */
function ActionWords({ entry, withSubject }: EntryProps) {
  const { find } = useTranslation()
  const { action, outcome } = entry
  const called = withSubject ? subjectName(entry) : ''
  const name = called === '' ? '' : ` ${place}`
  const section = outcome === 'refused' ? 'audit.tried' : 'audit.action'
  const words = find(`${section}.${action.replace('.', '_')}`, { name }) ?? `${action}${name}`
  const [before, after] = words.split(place)
  return (
    <>
      {before}
      {/* Words that name it themselves, as of the frame, have no place for it. */}
      {after !== undefined && <Subject entry={entry} called={called} />}
      {after}
    </>
  )
}

/** Empty if people act on their own account, and for attempts that concern nothing that exists. */
function subjectName({ subject_name: name, subject_id: id, actor }: AuditEntryAnswer): string {
  const called = name ?? id
  return called === actor ? '' : called
}

type SubjectProps = Pick<EntryProps, 'entry'> & { readonly called: string }

/** Its name, leading to it where it has a page that the reader may open. */
function Subject({ entry: { subject, subject_id: id }, called }: SubjectProps) {
  const { may } = useSession()
  const mayRead = may('configuration:read')
  if (subject === 'key' && id !== '' && mayRead)
    return (
      <Link to="/settings/api-access/$id" params={{ id }}>
        {called}
      </Link>
    )
  if (subject === 'group' && id !== '' && mayRead)
    return (
      <Link to="/settings/groups/$id" params={{ id }}>
        {called}
      </Link>
    )
  if (subject === 'frame' && may('configuration:read', 'everywhere'))
    return <Link to="/settings/api-access/frame">{called}</Link>
  if (subject === 'alert' && may('configuration:read', 'everywhere'))
    return <Link to="/settings/alerts">{called}</Link>
  if (subject === 'person' && may('people:manage', 'everywhere'))
    return <Link to="/settings/people">{called}</Link>
  if (subject === 'role') return <Link to="/settings/roles">{called}</Link>
  return called
}
