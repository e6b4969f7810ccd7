// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Reads the name and version of a chart in an artifact. */
import type { Blobs } from '../../../blobs/blobs.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { isObject } from '../../../core/json.ts'
import { readTree } from '../../../source/artifact.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { ChartFacts } from './ports.ts'

/** The largest Chart.yaml, in bytes. */
const MAX_CHART_YAML = 1024 * 1024

/** Reads the Chart.yaml of a directory of an artifact. */
export async function readChartFacts(artifact: Digest, path: string, blobs: Pick<Blobs, 'get'>): Promise<ChartFacts> {
  const tree = await readTree(artifact, blobs)
  const file = path === '' ? 'Chart.yaml' : `${path}/Chart.yaml`
  const found = tree?.files.find((one) => one.path === file)
  if (!found) return { problem: `there is no ${file} in the source` }
  if (found.size > MAX_CHART_YAML) return { problem: `${file} is larger than ${MAX_CHART_YAML} bytes` }
  const bytes = await blobs.get(found.digest)
  if (!bytes) return { problem: `${file} is not stored` }
  try {
    const { value } = readFirstYaml(fromUtf8(bytes), { file, resolver: '1.1', duplicateKeys: 'last' })
    const { name, version, appVersion } = isObject(value) ? value : {}
    if (typeof name !== 'string' || typeof version !== 'string') return { problem: `${file} has no name and version` }
    return { name, version, appVersion: typeof appVersion === 'string' ? appVersion : '' }
  } catch (caught) {
    if (caught instanceof YamlError || caught instanceof TypeError) return { problem: `${file}: ${caught.message}` }
    throw caught
  }
}
