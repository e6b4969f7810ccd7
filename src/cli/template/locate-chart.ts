// Tested by src/cli/commands/preview/template.contract.test.ts.
/** Charts on disk: a directory's files or an archive, as Helm finds them. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join, resolve } from 'node:path'
import { fromGoBytes } from '../../render/gotemplate/go-string.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import type { Chart, ChartFile } from '../../render/helm/chart/chart.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import type { IgnoreRules } from '../../render/helm/chart/file-pattern.ts'
import { loadChartArchive, loadFiles, readIgnoreRules } from '../../render/helm/chart/load-chart.ts'
import { assertKnownVersion } from '../../render/helm/chart/metadata.ts'
import type { HelmProfile } from '../../render/helm/profile.ts'
import { readChartArchive, withoutBom } from '../../render/helm/chart/chart-archive.ts'
import { sniffContent } from './sniff-content-type.ts'

const MAX_FILE = 5 * 1024 * 1024

/** Where the chart is that a command line names; helm looks for it before anything else. */
export function locateChart(name: string): string {
  const path = name.trim()
  if (!statOf(path)) throw notFound(path)
  return resolve(path)
}

/** Loads the chart that was located. */
export function loadChartFrom(path: string, profile: HelmProfile): Chart {
  if (statSync(path).isDirectory()) {
    if (profile.name === 'helm4') assertKnownVersion(readChartYaml(path))
    return loadFiles(readChartTree(path, chartRules(join(path, '.helmignore'))), { profile })
  }
  const data = readFileSync(path)
  if (data[0] !== 0x1f || data[1] !== 0x8b || data[2] !== 0x08) {
    const isYaml = /\.ya?ml$/.test(path)
    throw new HelmError(
      isYaml
        ? `file '${path}' seems to be a YAML file, but expected a gzipped archive`
        : `file '${path}' does not appear to be a gzipped archive; got '${sniffContent(data)}'`,
    )
  }
  return loadChartFile(data, profile)
}

/** Helm 4 looks into Chart.yaml before it reads the rest. */
function readChartYaml(dir: string): Uint8Array {
  const file = join(dir, 'Chart.yaml')
  try {
    return readFileSync(file)
  } catch (error) {
    throw new HelmError(`unable to detect chart at ${file}: ${goFileError(error, file)}`)
  }
}

/** An archive that is no chart is told from one that is none at all only by Helm 3. */
function loadChartFile(data: Uint8Array, profile: HelmProfile): Chart {
  if (profile.name === 'helm3') return loadChartArchive(data, { profile })
  let files: readonly ChartFile[]
  try {
    files = readChartArchive(data)
  } catch (error) {
    throw error instanceof HelmError ? new HelmError('unable to load chart archive', { cause: error }) : error
  }
  const chartYaml = files.find(({ name }) => name === 'Chart.yaml')
  if (!chartYaml) throw new HelmError('unable to detect chart version, no Chart.yaml found')
  assertKnownVersion(chartYaml.data)
  return loadFiles(files, { profile })
}

/** The rules of a .helmignore, or the default rules. */
function chartRules(file: string): IgnoreRules {
  return readIgnoreRules(statSync(file, { throwIfNoEntry: false }) ? readFileSync(file) : undefined)
}

function notFound(path: string): HelmError {
  if (/^(?:\/|\.)/.test(path)) return new HelmError(`path ${JSON.stringify(path)} not found`)
  if (addressProblem(path) !== undefined) return new HelmError(`invalid chart URL format: ${path}`)
  if (path.includes('/')) return new HelmError(`repo ${path.split('/')[0]} not found`)
  return new HelmError(`non-absolute URLs should be in form of repo_name/path_to_chart, got: ${addressText(path)}`)
}

/** Helm reads what is no chart on disk, and the path of any other file, as an address first, and Go refuses some. */
export function addressProblem(path: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- exactly the characters that Go refuses
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'net/url: invalid control character in URL'
  if (path.startsWith(':')) return 'missing protocol scheme'
  const isScheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)
  if (!isScheme && /^[^/?#]*:/.test(path)) return 'first path segment in URL cannot contain colon'
  const bad = isScheme ? undefined : /%(?![\da-fA-F]{2}).{0,2}/s.exec(path.split('?')[0]!)?.[0]
  return bad === undefined ? undefined : `invalid URL escape ${goQuote(bad)}`
}

/** A path as Go writes it in an address: as it stands where that can be, else with everything unusual escaped. */
function addressText(path: string): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/]*$/.test(path)) return path
  return Array.from(Buffer.from(path), (byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/**
 * The files below a directory, in the order of a walk. Symbolic links are followed. Ignored files are not read, except
 * links, whose target must exist.
 */
function readChartTree(dir: string, ignored: IgnoreRules, base = '', files: ChartFile[] = []): readonly ChartFile[] {
  const folder = join(dir, base)
  for (const entry of readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare)) {
    const name = fromGoBytes(entry)
    const path = base === '' ? name : `${base}/${name}`
    const file = `${folder}/${name}`
    const stat = statOf(file)
    if (!stat) throw lost(file)
    if (ignored(path, stat.isDirectory())) continue
    if (stat.isDirectory()) readChartTree(dir, ignored, path, files)
    else if (!stat.isFile()) {
      throw new HelmError(`cannot load irregular file ${file} as it has file mode type bits set`)
    } else if (stat.size > MAX_FILE) {
      throw new HelmError(`chart file ${goQuote(name)} is larger than the maximum file size ${MAX_FILE}`)
    } else files.push({ name: path, data: withoutBom(readFileSync(file)) })
  }
  return files
}

/** What Go says of a file that cannot be read. */
export function goFileError(error: unknown, file: string): string {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'EISDIR') return `read ${file}: is a directory`
  const why = { ENOENT: 'no such file or directory', ENOTDIR: 'not a directory', EACCES: 'permission denied' }[code]
  if (why === undefined) throw error
  return `open ${file}: ${why}`
}

/** What is at the end of a path; nothing where links lead nowhere or in a circle. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined
    throw error
  }
}

/** A link that does not lead anywhere, or leads through so many others that Linux gives up. */
function lost(link: string): HelmError {
  try {
    realpathSync(link)
    return new HelmError(`open ${link}: too many levels of symbolic links`)
  } catch (error) {
    const isCircle = (error as NodeJS.ErrnoException).code === 'ELOOP'
    const why = isCircle
      ? 'EvalSymlinks: too many links'
      : `lstat ${firstMissing(resolve(link))}: no such file or directory`
    return new HelmError(`error evaluating symlink ${resolve(link)}: ${why}`)
  }
}

/** The first part of a path that is not there, links followed, as Go looks for it. */
function firstMissing(path: string): string {
  const parts = path.split('/')
  for (let count = 2; count <= parts.length; count++) {
    const at = parts.slice(0, count).join('/')
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (!stat) return at
    if (stat.isSymbolicLink()) {
      return firstMissing(join(resolve(at, '..', readlinkSync(at)), ...parts.slice(count)))
    }
  }
  return path
}
