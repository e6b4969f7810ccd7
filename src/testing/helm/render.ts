// Renders a chart from disk as `helm template release-name DIR` does, for tests and the conformance run.
import { loadChartFrom, locateChart } from '../../cli/template/locate-chart.ts'
import { generateTraditionalKey, randomBytes } from '../../core/bytes.ts'
import { goBytes } from '../../render/gotemplate/go-string.ts'
import { checkRequirements } from '../../render/helm/chart/check-chart.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { loadChart } from '../../render/helm/chart/load-chart.ts'
import { profileOf } from '../../render/helm/profile.ts'
import type { HelmVersion } from '../../render/helm/profile.ts'
import { renderChart } from '../../render/helm/render-chart.ts'
import { templateOutput } from '../../render/helm/template-output.ts'
import { userValues } from '../../render/helm/values/user-values.ts'
import type { ValuesFlags } from '../../render/helm/values/user-values.ts'

/** What the command would print for a chart, by its path or its files, and whether it failed. */
export function renderLikeHelm(
  chartFiles: ReadonlyMap<string, Uint8Array> | string,
  options: ValuesFlags & { readonly version: HelmVersion; readonly name?: string },
): { readonly bytes: Uint8Array; readonly stderr: string; readonly failed: boolean } {
  const profile = profileOf(options.version)
  try {
    const values = userValues(options, profile)
    const chart =
      typeof chartFiles === 'string'
        ? loadChartFrom(locateChart(chartFiles), profile)
        : loadChart(chartFiles, { profile })
    checkRequirements(chart, profile)
    const rendered = renderChart({
      chart,
      values,
      profile,
      release: { name: options.name ?? 'release-name', namespace: 'default' },
      entropy: { randomBytes, now: () => Date.now(), generateKey: generateTraditionalKey },
    })
    return { bytes: goBytes(templateOutput(rendered)), stderr: '', failed: false }
  } catch (error) {
    if (!(error instanceof HelmError)) throw error
    const advice = error.rendered ? '\n\nUse --debug flag to render out invalid YAML' : ''
    const stderr = new TextDecoder().decode(goBytes(`Error: ${error.message}${advice}\n`))
    return { bytes: new Uint8Array(), stderr, failed: true }
  }
}
