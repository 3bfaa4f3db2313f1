// A list of changes: the field, its old value, its new value.
import type { ChangeLine } from '../audit/change-lines.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import styles from './change-list.module.css'

export function ChangeList({ lines }: { readonly lines: readonly ChangeLine[] }) {
  const { t } = useTranslation()
  return (
    <dl className={styles['changes']}>
      {lines.map(({ field, label, before, after }) => (
        <div key={field}>
          <dt>{label}</dt>
          <dd>
            {before !== '' && (
              <>
                <del>
                  <span className="visually-hidden">{t('changes.before')}: </span>
                  {before}
                </del>{' '}
                <span aria-hidden="true">→</span>{' '}
              </>
            )}
            <ins>
              <span className="visually-hidden">{t('changes.after')}: </span>
              {after}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
