/** What `helm template` asks of a chart before it renders it. */
import type { Chart } from './chart.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'

/** Refuses charts that cannot be installed, and charts with missing dependencies. */
export function checkRequirements(chart: Chart, profile: HelmProfile): void {
  const { type, dependencies, apiVersion } = chart.metadata
  const isKnown = apiVersion === 'v1' || apiVersion === 'v2' || apiVersion === 'v3'
  if (profile.name === 'helm4' && !isKnown) throw new HelmError('unsupported chart version')
  if (type !== '' && type !== 'application') throw new HelmError(`${type} charts are not installable`)
  const advice =
    profile.name === 'helm4'
      ? "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies"
      : 'An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies'
  const isNext = profile.name === 'helm4' && apiVersion === 'v3'
  // Helm 4 keeps charts of its next version to itself, and wants their lists of dependencies to be equally long.
  if (isNext && chart.dependencies.length !== (dependencies ?? []).length) {
    throw new HelmError(`${advice}: unsupported chart dependency type`)
  }
  const present = new Set(chart.dependencies.map(({ metadata }) => metadata.name))
  const missing = (dependencies ?? []).filter(({ name }) => !present.has(name)).map(({ name }) => name)
  if (missing.length > 0) {
    throw new HelmError(`${advice}: found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}`)
  }
  if (isNext) throw new HelmError('invalid chart apiVersion')
}

/** Refuses a release name that Kubernetes could not carry. */
export function checkReleaseName(name: string, profile: HelmProfile): void {
  const valid = name.length <= 53 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
  if (valid) return
  const problem =
    name === ''
      ? 'no name provided'
      : `invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53`
  const prefix = profile.name === 'helm4' ? 'release name check failed: ' : ''
  throw new HelmError(`${prefix}release name "${name}": ${problem}`)
}
