/** The cluster a render is for: its version and its APIs. */
import { GoError } from '../gotemplate/function.ts'
import { HelmError } from './helm-error.ts'
import type { HelmProfile } from './profile.ts'
import { versionText } from '../../core/text/semver.ts'
import { parseVersion } from './semver.ts'
import type { Capabilities } from './engine/template-objects.ts'

/** Data of the cluster; missing fields have the values that Helm assumes without a cluster. */
export interface ClusterFacts {
  /** As `--kube-version` takes it: `1.33`, `v1.33.4-gke.1`. */
  readonly kubeVersion?: string
  /** Further API versions, as `--api-versions` adds them. */
  readonly apiVersions?: readonly string[]
  /** All API versions of a real cluster; they replace the versions that Helm assumes. */
  readonly allApiVersions?: readonly string[]
}

/** The capabilities templates see. */
export function capabilitiesFor(facts: ClusterFacts, profile: HelmProfile): Capabilities {
  const { major, minor } = profile.kubeVersion
  const assumed = { version: `v${major}.${minor}.0`, normalized: `v${major}.${minor}.0`, major, minor }
  return {
    kubeVersion: facts.kubeVersion ? parseKubeVersion(facts.kubeVersion, profile) : assumed,
    apiVersions: [...(facts.allApiVersions ?? profile.apiVersions), ...(facts.apiVersions ?? [])],
  }
}

function parseKubeVersion(text: string, profile: HelmProfile): Capabilities['kubeVersion'] {
  const refuse = (problem: string) => new HelmError(`invalid kube version '${text}': ${problem}`)
  if (profile.name === 'helm3') {
    try {
      const version = parseVersion(text, profile.prereleases)
      const printed = `v${versionText(version)}`
      return { version: printed, normalized: printed, major: String(version.major), minor: String(version.minor) }
    } catch (error) {
      if (error instanceof GoError) throw refuse(error.message)
      throw error
    }
  }
  // Kubernetes' own parser: leading numbers, and the rest is a suffix.
  const match = /^\s*v?([0-9]+(?:\.[0-9]+)*)(?:[^0-9.].*|\.)?$/s.exec(text)
  const parts = match?.[1]?.split('.') ?? []
  if (parts.length < 2)
    throw refuse(
      match ? `illegal version string ${JSON.stringify(text)}` : `could not parse ${JSON.stringify(text)} as version`,
    )
  const bad = parts.find((part) => part.length > 1 && part.startsWith('0'))
  if (bad !== undefined)
    throw refuse(`illegal zero-prefixed version component ${JSON.stringify(bad)} in ${JSON.stringify(text)}`)
  const [major = '', minor = ''] = parts
  return { version: text.startsWith('v') ? text : `v${text}`, normalized: `v${parts.join('.')}`, major, minor }
}
