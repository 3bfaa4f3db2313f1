// The first page: says whether the gateway is ready, and gives the first call to copy.
import { Trans, useTranslation } from 'react-i18next'
import { CopyBlock } from '../parts/copy-block.tsx'
import { Readiness } from '../parts/readiness.tsx'
import styles from './welcome.module.css'

const createKey = 'npx tollgate keys create --name demo --models sandbox-chat --budget 1'

const firstCall = `curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}'`

export function WelcomePage() {
  const { t } = useTranslation()
  return (
    <main className={styles['welcome']}>
      <header className={styles['head']}>
        <img src="/mark.svg" alt="" />
        <h1>Tollgate</h1>
        <p className="muted">{t('welcome.about')}</p>
      </header>
      <Readiness />
      <h2>{t('welcome.firstCall')}</h2>
      <ol>
        <li>
          <p>
            <Trans i18nKey="welcome.createKey" components={{ code: <code /> }} />
          </p>
          <CopyBlock label={t('welcome.createCommand')} text={createKey} />
        </li>
        <li>
          <p>{t('welcome.ask')}</p>
          <CopyBlock label={t('welcome.call')} text={firstCall} />
        </li>
      </ol>
    </main>
  )
}
