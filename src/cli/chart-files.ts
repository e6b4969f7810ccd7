/** Charts on disk: a directory's files or an archive, as Helm finds them. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fromGoBytes } from '../render/gotemplate/go-string.ts'
import type { Chart } from '../render/helm/chart.ts'
import { HelmError } from '../render/helm/helm-error.ts'
import { loadChart, loadChartArchive } from '../render/helm/load-chart.ts'
import type { HelmProfile } from '../render/helm/profile.ts'
import { sniffContent } from './sniff-content.ts'

const MAX_FILE = 5 * 1024 * 1024

/** Loads the chart at a path. */
export function loadChartFrom(path: string, profile: HelmProfile): Chart {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw notFound(path)
  if (found.isDirectory()) {
    if (profile.name === 'helm4') assertChartIn(resolve(path))
    return loadChart(readChartTree(path), { profile })
  }
  const data = readFileSync(path)
  if (data[0] !== 0x1f || data[1] !== 0x8b) {
    const isYaml = /\.ya?ml$/.test(path)
    throw new HelmError(
      isYaml
        ? `file '${resolve(path)}' seems to be a YAML file, but expected a gzipped archive`
        : `file '${resolve(path)}' does not appear to be a gzipped archive; got '${sniffContent(data)}'`,
    )
  }
  return loadChartArchive(data, { profile })
}

/** Helm 4 looks into Chart.yaml before it reads the rest. */
function assertChartIn(dir: string): void {
  const file = join(dir, 'Chart.yaml')
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) return
  const why = found ? `read ${file}: is a directory` : `open ${file}: no such file or directory`
  throw new HelmError(`unable to detect chart at ${file}: ${why}`)
}

function notFound(path: string): HelmError {
  if (/^(?:\/|\.)/.test(path)) return new HelmError(`path ${JSON.stringify(path)} not found`)
  if (path.includes('/')) return new HelmError(`repo ${path.split('/')[0]} not found`)
  return new HelmError(`non-absolute URLs should be in form of repo_name/path_to_chart, got: ${path}`)
}

/** The files below a directory; symbolic links are followed. */
export function readChartTree(dir: string, base = '', files = new Map<string, Uint8Array>()): Map<string, Uint8Array> {
  const folder = join(dir, base)
  for (const entry of readdirSync(folder, { encoding: 'buffer' })) {
    const name = fromGoBytes(entry)
    const path = base === '' ? name : `${base}/${name}`
    const file = `${folder}/${name}`
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat) throw dangling(file)
    if (stat.isDirectory()) readChartTree(dir, path, files)
    else if (!stat.isFile()) {
      throw new HelmError(`cannot load irregular file ${join(dir, path)} as it has file mode type bits set`)
    } else if (stat.size > MAX_FILE) {
      throw new HelmError(`chart file ${JSON.stringify(name)} is larger than the maximum file size ${MAX_FILE}`)
    } else files.set(path, readFileSync(file))
  }
  return files
}

function dangling(link: string): HelmError {
  const missing = firstMissing(resolve(link))
  return new HelmError(`error evaluating symlink ${resolve(link)}: lstat ${missing}: no such file or directory`)
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
