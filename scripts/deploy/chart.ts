// The chart and the manifests rendered from it, which say from what: so that a test can tell without helm whether they
// are current.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'

export const CHART = 'deploy/helm/tollgate'
export const VALUES = 'deploy/kubernetes/values.yaml'
export const RENDERED = 'deploy/kubernetes/tollgate.yaml'

/** The first lines of the rendered manifests. */
export function renderedHeading(): string {
  return [
    '# Rendered from deploy/helm/tollgate with deploy/kubernetes/values.yaml: npm run deploy:check -- --write',
    '# It takes the Secret "tollgate" with TOLLGATE_DATABASE, TOLLGATE_SECRET and the keys of providers.',
    `# Inputs: sha256 ${inputDigest()}`,
    '',
  ].join('\n')
}

function inputDigest(): string {
  const hash = createHash('sha256')
  for (const file of [...globSync(`${CHART}/**/*.{yaml,tpl}`).toSorted(), VALUES])
    hash.update(file).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}
