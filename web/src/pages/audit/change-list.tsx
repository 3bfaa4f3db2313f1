// Changes as a list: each field with its value before and after.
import { useTranslation } from '../../i18n/i18n.ts'
import type { ChangeLine } from './change-lines.ts'
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
