// What a new gateway still needs, in the order in which it is needed: instead of the list while there are no keys.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import { modelsQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { CheckIcon } from '../../parts/icons.tsx'
import { ConnectProvider, isSandboxAlone } from '../../parts/provider.tsx'
import { destinationsQuery } from '../alerts/alert-words.ts'
import styles from './first-steps.module.css'

export function FirstSteps({ frame }: { readonly frame: FrameAnswer }) {
  const { t, format } = useTranslation()
  const { may } = useSession()
  const models = useQuery(modelsQuery)
  const destinations = useQuery(destinationsQuery)
  const isConnected = models.data !== undefined && !isSandboxAlone(models.data)
  const amount = format.money(frame.limit)
  return (
    <section className="card" aria-labelledby="first-steps">
      <h2 id="first-steps" className={styles['title']}>
        {t('overview.none')}
      </h2>
      <p className="muted">{t('overview.noneAbout')}</p>
      <ol className={styles['steps']}>
        <Step name="provider" isDone={isConnected}>
          {models.data && !isConnected && <ConnectProvider />}
        </Step>
        <Step name="frame" isDone={frame.version !== firstVersion} values={{ amount }}>
          <StepLink to="/settings/api-access/frame" words={t('nav.frame')} />
        </Step>
        <Step name="key">
          <Button component={Link} to="/settings/api-access/new">
            {t('overview.create')}
          </Button>
        </Step>
        <Step name="alert" isDone={(destinations.data?.destinations.length ?? 0) > 0}>
          <StepLink to="/settings/alerts" words={t('nav.alerts')} />
        </Step>
        {may('people:manage', 'everywhere') && (
          <Step name="invite">
            <StepLink to="/settings/people" words={t('nav.people')} />
          </Step>
        )}
      </ol>
    </section>
  )
}

/** Of a frame that nobody has changed since the first start. */
const firstVersion = '1'

type StepProps = {
  readonly name: 'provider' | 'frame' | 'key' | 'alert' | 'invite'
  readonly isDone?: boolean
  readonly values?: Readonly<Record<string, string>>
  readonly children: ReactNode
}

function Step({ name, isDone = false, values, children }: StepProps) {
  const { t } = useTranslation()
  return (
    <li data-done={isDone}>
      <span className={styles['mark']}>{isDone && <CheckIcon />}</span>
      <div>
        <h3>
          {t(`firstSteps.${name}.title`)}
          {isDone && <span className="visually-hidden">, {t('firstSteps.done')}</span>}
        </h3>
        <p>{t(`firstSteps.${name}.about`, values)}</p>
        {children}
      </div>
    </li>
  )
}

type StepLinkProps = {
  readonly to: '/settings/api-access/frame' | '/settings/alerts' | '/settings/people'
  readonly words: string
}

function StepLink({ to, words }: StepLinkProps) {
  return (
    <Button component={Link} to={to} variant="default" size="compact-sm">
      {words}
    </Button>
  )
}
