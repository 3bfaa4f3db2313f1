// Every model: its providers and their health, prices, inputs and capabilities, and the keys that may call it.
import { Box, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import { HEALTHS, KINDS } from '../../base/address.ts'
import type { AddressProps, ModelSort, ModelsSearch } from '../../base/address.ts'
import { every, modelsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, Toolbar, TypedFilter } from '../../parts/filters.tsx'
import { CubeIcon, SearchIcon } from '../../parts/icons.tsx'
import { EmptyState, Notice, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { ConnectProvider, isSandboxAlone } from '../../parts/provider.tsx'
import { ModelDrawer } from './model-drawer.tsx'
import { ModelTable } from './model-table.tsx'

const route = getRouteApi('/app/settings/models')
/** Health changes often; prices seldom do. */
const renewMs = 15_000

export function ModelsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<ModelsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const models = useQuery({ ...modelsQuery, refetchInterval: every(renewMs) })
  const open = models.data?.find(({ id }) => id === search.open)
  return (
    <>
      <PageHeader title={t('nav.models')} about={t('modelsPage.about')} />
      {models.data && isSandboxAlone(models.data) && (
        <Box mb="lg">
          <Notice tone="info" title={t('modelsPage.sandboxAlone')}>
            <p>{t('firstSteps.provider.about')}</p>
            <ConnectProvider />
          </Notice>
        </Box>
      )}
      <ModelFilters search={search} onChange={change} models={models.data} />
      {models.error && !models.data ? (
        <QueryError title={t('picker.failed')} query={models} />
      ) : (
        <ModelList search={search} onChange={change} models={models.data} />
      )}
      {open && <ModelDrawer model={open} onClose={() => change({ open: undefined })} />}
    </>
  )
}

type ModelsProps = AddressProps<ModelsSearch> & {
  /** Undefined until they are known. */
  readonly models: readonly ModelAnswer[] | undefined
}

function ModelFilters({ search, onChange, models = [] }: ModelsProps) {
  const { t } = useTranslation()
  const providers = models.flatMap(({ targets }) => targets.map(({ provider }) => provider))
  return (
    <Toolbar>
      <TypedFilter
        label={t('filter.search')}
        icon={<SearchIcon />}
        value={search.search}
        onChange={(words) => onChange({ search: words })}
      />
      <Choice
        label={t('modelList.provider')}
        value={search.provider}
        values={[...new Set(providers)].toSorted()}
        wordOf={(provider) => provider}
        onChoose={(provider) => onChange({ provider })}
      />
      <Choice
        label={t('picker.kind')}
        value={search.kind}
        values={KINDS}
        wordOf={(kind) => t(`modelKind.${kind}`)}
        onChoose={(kind) => onChange({ kind })}
      />
      <Choice
        label={t('modelsPage.health')}
        value={search.health}
        values={HEALTHS}
        wordOf={(health) => t(`health.${health}.word`)}
        onChoose={(health) => onChange({ health })}
      />
    </Toolbar>
  )
}

const shownAtFirst = 100

function ModelList({ search, onChange, models }: ModelsProps) {
  const { t, format } = useTranslation()
  const [shown, setShown] = useState(shownAtFirst)
  const found = useMemo(() => models && matching(models, search), [models, search])
  if (found?.length === 0)
    return (
      <EmptyState icon={CubeIcon} title={t('modelsPage.none')} about={t('modelsPage.noneAbout')} />
    )
  return (
    <>
      <ModelTable
        rows={found?.slice(0, shown)}
        sort={{ by: search.sort ?? 'id', order: search.order ?? 'asc' }}
        onSort={({ by, order }) => onChange({ sort: by, order })}
        onOpen={(open) => onChange({ open })}
      />
      {found && (
        <Group justify="space-between" mt="sm">
          <span className="muted" role="status">
            {t('table.range', {
              first: format.number(1),
              last: format.number(Math.min(shown, found.length)),
              total: format.number(found.length),
            })}
          </span>
          {found.length > shown && (
            <Button variant="default" size="compact-md" onClick={() => setShown(shown * 2)}>
              {t('requests.more')}
            </Button>
          )}
        </Group>
      )}
    </>
  )
}

/** The models that pass the filters, in the requested order. */
function matching(models: readonly ModelAnswer[], search: ModelsSearch): readonly ModelAnswer[] {
  const { provider } = search
  const words = (search.search ?? '').toLowerCase().split(/\s+/)
  const sign = search.order === 'desc' ? -1 : 1
  const valueOf = values[search.sort ?? 'id']
  return models
    .filter((model) => words.every((word) => model.id.toLowerCase().includes(word)))
    .filter(({ kind }) => search.kind === undefined || kind === search.kind)
    .filter(({ health }) => search.health === undefined || health === search.health)
    .filter(({ targets }) => !provider || targets.some((target) => target.provider === provider))
    .toSorted((one, other) => {
      const [a, b] = [valueOf(one), valueOf(other)]
      return sign * (typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b))
    })
}

const values: Readonly<Record<ModelSort, (model: ModelAnswer) => string | number>> = {
  id: ({ id }) => id,
  provider: ({ provider }) => provider ?? '',
  input: ({ price }) => Number(price?.input ?? -1),
  output: ({ price }) => Number(price?.output ?? -1),
  context: ({ context }) => context ?? -1,
  keys: (model) => model.key_count,
}
