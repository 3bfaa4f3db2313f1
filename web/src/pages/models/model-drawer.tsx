// One model: where its requests go, the price of every kind of token, and its capabilities.
import { Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import { ABILITIES } from '../../../../src/core/endpoints.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { DetailDrawer } from '../../parts/dialogs.tsx'
import { BanIcon, CheckIcon, InfoIcon } from '../../parts/icons.tsx'
import { Notice } from '../../parts/notices.tsx'
import { HealthBadge, TargetBadge } from './model-table.tsx'
import styles from './models.module.css'

type ModelDrawerProps = { readonly model: ModelAnswer; readonly onClose: () => void }

export function ModelDrawer({ model, onClose }: ModelDrawerProps) {
  const { t } = useTranslation()
  return (
    <DetailDrawer title={<span className="break">{model.id}</span>} onClose={onClose}>
      <Stack gap="lg">
        <Group gap="sm">
          <HealthBadge model={model} />
          <span>{t(`modelKind.${model.kind}`)}</span>
          <CopyButton text={model.id} label={model.id} />
        </Group>
        {model.reason && <Notice tone="warn">{model.reason}</Notice>}
        <Targets model={model} />
        <Prices model={model} />
        <Abilities model={model} />
        {model.key_count > 0 && (
          <Link to="/settings/api-access" search={{ model: model.id }}>
            {t('modelsPage.showKeys', { count: model.key_count })}
          </Link>
        )}
      </Stack>
    </DetailDrawer>
  )
}

type ModelProps = { readonly model: ModelAnswer }

function Targets({ model }: ModelProps) {
  const { t, format } = useTranslation()
  return (
    <section>
      <h2 className={styles['heading']}>{t('modelsPage.targets')}</h2>
      <table className={styles['facts']}>
        <caption className="visually-hidden">{t('modelsPage.targets')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('modelsPage.target')}</th>
            <th scope="col">{t('modelsPage.weight')}</th>
            <th scope="col">{t('modelsPage.inAndOut')}</th>
            <th scope="col">{t('requests.status')}</th>
          </tr>
        </thead>
        <tbody>
          {model.targets.map((target) => (
            <tr key={`${target.provider}/${target.model}/${target.role}`}>
              <td className="break">
                {target.provider}
                <div className="sub break">{target.model}</div>
              </td>
              <td>
                {target.role === 'fallback'
                  ? t('modelsPage.fallback')
                  : format.number(target.weight)}
              </td>
              <td>
                {format.money(target.price.input)} / {format.money(target.price.output)}
              </td>
              <td>
                <TargetBadge target={target} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="sub break">{t('modelsPage.knownHere')}</p>
    </section>
  )
}

const prices = ['input', 'cached', 'cache_write', 'cache_write_long', 'output'] as const

function Prices({ model }: ModelProps) {
  const { t, format } = useTranslation()
  const tokens = (value: number | null) =>
    value === null ? t('modelsPage.unknown') : format.number(value)
  return (
    <section>
      <h2 className={styles['heading']}>{t('modelsPage.priceTitle')}</h2>
      {!model.price && <Notice tone="warn">{t('modelsPage.noPrice')}</Notice>}
      <table className={styles['facts']}>
        <caption className="visually-hidden">{t('modelsPage.priceTitle')}</caption>
        <tbody>
          {prices.map((name) => (
            <tr key={name}>
              <th scope="row">{t(`modelsPage.price.${name}`)}</th>
              <td>
                {model.price ? format.money(model.price[name]) : '–'}
                {model.price?.tiers?.map((tier) => (
                  <div key={tier.above_input_tokens} className="sub break">
                    {t('modelsPage.whenLong', {
                      tokens: format.number(tier.above_input_tokens),
                      price: format.money(tier[name]),
                    })}
                  </div>
                ))}
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('modelsPage.context')}</th>
            <td>{tokens(model.context)}</td>
          </tr>
          <tr>
            <th scope="row">{t('modelsPage.maxOutput')}</th>
            <td>{tokens(model.max_output)}</td>
          </tr>
        </tbody>
      </table>
    </section>
  )
}

function Abilities({ model }: ModelProps) {
  const { t } = useTranslation()
  return (
    <section>
      <h2 className={styles['heading']}>{t('picker.ability')}</h2>
      <ul className={styles['abilities']}>
        {ABILITIES.map((ability) => {
          const can = model.abilities[ability]
          const Icon = can === true ? CheckIcon : can === false ? BanIcon : InfoIcon
          const word = can === true ? 'yes' : can === false ? 'no' : 'unknown'
          return (
            <li key={ability} data-can={can === true}>
              <Icon size={14} />
              <span>
                {t(`ability.${ability}`)}
                <span className={can === 'unknown' ? undefined : 'visually-hidden'}>
                  : {t(`modelsPage.can.${word}`)}
                </span>
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
