// The budget thresholds that send alerts, for the frame and for any key.
import { useState } from 'react'
import { useTranslation } from '../../i18n/use-translation.ts'
import { KeySelect } from '../../parts/key-select.tsx'
import { RuleEditor } from './rule-editor.tsx'
import styles from './alerts.module.css'

export function Thresholds() {
  const { t } = useTranslation()
  const [key, setKey] = useState<string>()
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.thresholds')}</h2>
      </div>
      <div className={styles['pair']}>
        <div className="card">
          <h3 className={styles['title']}>{t('framePage.name')}</h3>
          <RuleEditor keyId={undefined} />
        </div>
        <div className="card">
          <h3 className={styles['title']}>{t('alerts.oneKey')}</h3>
          <KeySelect label={t('requests.key')} required value={key} onChange={setKey} />
          {key !== undefined && <RuleEditor key={key} keyId={key} />}
        </div>
      </div>
    </section>
  )
}
