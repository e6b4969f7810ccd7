/**
 * Remote charts in Fleet's notation: a chart of a repository or registry, an archive, or a directory of a git
 * repository.
 */
import { compact } from '../../../core/compact.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { cleanPath } from '../files/names.ts'

/** The location fields of a Source. */
export type RemoteSpec = Pick<Source['spec'], 'helm' | 'oci' | 'git' | 'paths'>

/** The Source of a chart and the directory in it, or the reason why the notation is not supported. */
export type RemoteLocation = { readonly spec: RemoteSpec; readonly directory?: string } | { readonly problem: string }

/** Reads `helm.chart`, `helm.repo` and `helm.version`; undefined for a directory of the repository itself. */
export function remoteChart(chart: string, repo: string, version: string): RemoteLocation | undefined {
  const oci = repo.startsWith('oci://') ? repo : chart.startsWith('oci://') ? chart : undefined
  if (oci !== undefined) {
    const isExact = /^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/.test(version)
    const tag = isExact ? { tag: version.replaceAll('+', '_') } : { semver: version || '*' }
    return { spec: { oci: { url: oci, ...tag } } }
  }
  if (repo !== '') {
    if (chart === '') return { problem: 'helm.repo needs helm.chart: which chart of the repository' }
    return { spec: { helm: compact({ url: repo, chart, version: version === '' ? undefined : version }) } }
  }
  const git = gitAddress(chart)
  if (git !== undefined) return gitChart(chart, git)
  if (/^https?:\/\//i.test(chart)) return { spec: { helm: { url: chart } } }
  if (!/^[a-z0-9+.-]+:(\/\/|:)/i.test(chart)) return undefined
  return {
    problem: `helm.chart ${JSON.stringify(chart)} cannot be fetched; use https://…/chart.tgz, oci://…, git::https://…//directory?ref=…, helm.repo, or a directory of this repository`,
  }
}

/** The address after `git::`, or the address of a short form. */
function gitAddress(chart: string): string | undefined {
  if (chart.startsWith('git::')) return chart.slice('git::'.length)
  if (/^git@[^/:]+:/.test(chart)) return chart
  const [, host, repository, rest = ''] =
    /^(github\.com|gitlab\.com)\/([^/?]+\/[^/?]+?)(?:\.git)?((?:\/|\?).*)?$/.exec(chart) ?? []
  if (host === undefined) return undefined
  return `https://${host}/${repository}.git${rest.replace(/^\/+(?=[^?])/, '//')}`
}

/** Parses `ADDRESS[//DIRECTORY][?ref=REF]`; a ref is a commit, a tag that looks like a version, or a branch. */
function gitChart(chart: string, address: string): RemoteLocation {
  const [plain = '', query = ''] = address.split(/\?(.*)/s, 2)
  const scheme = plain.indexOf('://')
  const slashes = plain.indexOf('//', scheme < 0 ? 0 : scheme + 3)
  const isSplit = slashes > 0
  const url = isSplit ? plain.slice(0, slashes) : plain
  const directory = isSplit ? cleanPath(plain.slice(slashes + 2)) : ''
  const asked = new URLSearchParams(query)
  const odd = [...asked.keys()].find((name) => !['ref', 'depth'].includes(name))
  if (odd !== undefined) {
    return { problem: `helm.chart ${JSON.stringify(chart)}: ${odd} has no meaning here; only ref has` }
  }
  if (directory.startsWith('..')) return { problem: `helm.chart ${JSON.stringify(chart)} leaves its repository` }
  const ref = asked.get('ref') ?? ''
  const wanted = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)
    ? { commit: ref }
    : /^v?\d/.test(ref)
      ? { tag: ref }
      : { branch: ref }
  return compact({
    spec: compact({
      git: compact({ url, ref: ref === '' ? undefined : wanted }),
      paths: directory === '' ? undefined : [directory],
    }),
    directory: directory === '' ? undefined : directory,
  })
}
