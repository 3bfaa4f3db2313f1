// The record of changes: who, when, what, before and after, from where; and attempts that were refused.
import type { AuditEntryAnswer } from '../../../src/admin/contract/audit.ts'
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { useWords } from '../i18n/use-words.ts'
import { ChangeList } from '../parts/change-list.tsx'
import { recordedLine } from './change-lines.ts'
import { WarningIcon } from '../parts/icons.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import styles from './audit-list.module.css'

type AuditListProps = {
  readonly entries: readonly AuditEntryAnswer[]
  /** Where entries of many things stand together, each names its own. */
  readonly withSubject?: boolean
}

export function AuditList({ entries, withSubject = false }: AuditListProps) {
  return (
    <ol className={styles['list']}>
      {entries.map((entry) => (
        <Entry key={entry.id} entry={entry} withSubject={withSubject} />
      ))}
    </ol>
  )
}

type EntryProps = { readonly entry: AuditEntryAnswer; readonly withSubject: boolean }

function Entry({ entry, withSubject }: EntryProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const from = [t(`audit.source.${entry.source}`), entry.address].filter(Boolean).join(', ')
  return (
    <li className={styles['entry']}>
      <div className={styles['when']}>
        <time dateTime={entry.at}>{format.dateTime(entry.at)}</time>
        <div>{from}</div>
      </div>
      <div>
        <p className={styles['what']}>
          <strong>{entry.actor}</strong> <ActionWords action={entry.action} />
          {withSubject && subjectWords(entry)}{' '}
          {entry.outcome === 'refused' && (
            <StatusBadge tone="bad" icon={<WarningIcon size={13} />} word={t('audit.refused')} />
          )}
        </p>
        {entry.reason && (
          <p className={styles['what']}>{t('audit.because', { reason: entry.reason })}</p>
        )}
        <Changes entry={entry} />
      </div>
    </li>
  )
}

/** There is one frame alone, and a person often acts on the own account. */
function subjectWords({ subject, subject_name: name, subject_id: id, actor }: AuditEntryAnswer) {
  return subject === 'frame' || name === actor ? '' : ` ${name ?? id}`
}

/** What was created has many values at once: they wait behind a word. */
const shownMax = 3

function Changes({ entry: { fields } }: Pick<EntryProps, 'entry'>) {
  const words = useWords()
  const lines = fields.map((field) => recordedLine(field, words))
  if (lines.length <= shownMax) return <ChangeList lines={lines} />
  return (
    <details className={styles['more']}>
      <summary>{words.t('audit.values', { count: lines.length })}</summary>
      <ChangeList lines={lines} />
    </details>
  )
}

/** The gateway may know actions that this catalogue does not: then its own word stands. */
function ActionWords({ action }: { readonly action: string }) {
  const { find } = useTranslation()
  return find(`audit.action.${action.replace('.', '_')}`) ?? action
}
