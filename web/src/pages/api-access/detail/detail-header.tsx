// The header of a key's page: its name and state, the visible part of its secrets, and its actions.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeyDetail } from '../../../../../src/admin/contract/key.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useNow } from '../../../i18n/use-now.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { PlayIcon, RotateIcon } from '../../../parts/icons.tsx'
import { PageHeader } from '../../../parts/page-header.tsx'
import { limitsQuery } from '../../../queries.ts'
import { useSession } from '../../../session.ts'
import type { KeyAction } from '../key-in-brief.ts'
import { useResume } from '../key-in-brief.ts'
import { KeyMenu } from '../key-menu.tsx'
import { KeyStatus } from '../key-status.tsx'
import styles from './detail.module.css'

type DetailHeaderProps = {
  readonly detail: KeyDetail
  /** The model the verdict below is for. */
  readonly model: string | undefined
  /** How old the figures are. */
  readonly freshness: ReactNode
  readonly onAction: (action: KeyAction) => void
}

export function DetailHeader({ detail, model, freshness, onAction }: DetailHeaderProps) {
  const { may } = useSession()
  const limits = useQuery(limitsQuery(detail.id, model))
  const isManager = may('configuration:manage')
  return (
    <PageHeader
      title={detail.name}
      beside={
        <span className={styles['badge']}>
          <KeyStatus keyInBrief={detail} isRefusing={limits.data?.passes === false} />
        </span>
      }
      about={<SecretFacts detail={detail} freshness={freshness} />}
      below={
        detail.old_secret && (
          <TwoSecrets
            detail={detail}
            old={detail.old_secret}
            onAction={isManager ? onAction : undefined}
          />
        )
      }
      actions={
        <>
          {isManager && detail.status !== 'revoked' && (
            <ManagerButtons detail={detail} onAction={onAction} />
          )}
          <KeyMenu keyInBrief={detail} onAction={onAction} isOnOwnPage />
        </>
      }
    />
  )
}

type ManagerButtonsProps = Pick<DetailHeaderProps, 'detail' | 'onAction'>

function ManagerButtons({ detail, onAction }: ManagerButtonsProps) {
  const { t } = useTranslation()
  const resume = useResume()
  const isPaused = detail.status === 'paused'
  return (
    <>
      {isPaused && (
        <Button loading={resume.isPending} onClick={() => resume.mutate({ id: detail.id })}>
          {t('action.resume')}
        </Button>
      )}
      <Button variant="default" leftSection={<PlayIcon />} onClick={() => onAction('test')}>
        {t('action.test')}
      </Button>
      <Button variant="default" leftSection={<RotateIcon />} onClick={() => onAction('rotate')}>
        {t('action.rotate')}
      </Button>
      <Button
        component={Link}
        to={`/settings/api-access/${detail.id}/edit`}
        variant={isPaused ? 'default' : 'filled'}
        data-shortcut="e"
      >
        {t('action.edit')}
      </Button>
    </>
  )
}

type SecretFactsProps = Pick<DetailHeaderProps, 'detail' | 'freshness'>

function SecretFacts({ detail, freshness }: SecretFactsProps) {
  const { t } = useTranslation()
  const facts = [detail.environment, detail.owner, t(`mode.${detail.mode}`)]
  return (
    <>
      <code>{detail.masked}</code> · {facts.filter((fact) => fact !== null).join(' · ')} {freshness}
    </>
  )
}

type TwoSecretsProps = Pick<DetailHeaderProps, 'detail'> & {
  readonly old: NonNullable<KeyDetail['old_secret']>
  readonly onAction: ((action: KeyAction) => void) | undefined
}

/** Shows when each secret was last used: an old one that is no longer used can be ended. */
function TwoSecrets({ detail, old, onAction }: TwoSecretsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <dl className={styles['secrets']}>
      <div>
        <dt>{t('detail.newSecret')}</dt>
        <dd>
          <code>{detail.masked}</code>{' '}
          <LastUse at={detail.secret_last_used_at} never={t('detail.newSecretUnused')} />
        </dd>
      </div>
      <div>
        <dt>{t('detail.oldSecret')}</dt>
        <dd>
          <code>{old.masked}</code>{' '}
          <LastUse at={old.last_used_at} never={t('detail.oldSecretUnused')} />{' '}
          <span>{t('detail.oldSecretUntil', { moment: format.dateTime(old.valid_until) })}</span>
        </dd>
        {onAction && (
          <dd>
            <Button size="compact-xs" variant="default" onClick={() => onAction('end-overlap')}>
              {t('detail.endNow')}
            </Button>
          </dd>
        )}
      </div>
    </dl>
  )
}

function LastUse({ at, never }: { readonly at: string | null; readonly never: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  return (
    <span>{at === null ? never : t('detail.secretUsed', { when: format.relative(at, now) })}</span>
  )
}
