/** Asks the real helm and kubectl how they read and write YAML. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { goJson } from '../../yaml/go-json.ts'
import { needBinary } from '../testenv.ts'

/** What helm answered, in the order of the questions. */
export interface HelmAnswers {
  /** `fromYaml | toJson` of each text; helm puts an error into the field `Error`. */
  readonly fromYaml: readonly string[]
  /** `toYaml` of each value, without the final newline; empty where helm fails. */
  readonly toYaml: readonly string[]
  readonly toYamlPretty: readonly string[]
  readonly toJson: readonly string[]
}

const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: answers
data:
{{- $cases := .Files.Get "cases.json" | fromJson }}
{{- range $i, $text := $cases.texts }}
  fromYaml.{{ $i }}: {{ fromYaml $text | toJson | b64enc | quote }}
{{- end }}
{{- range $i, $value := $cases.values }}
  toYaml.{{ $i }}: {{ toYaml $value | b64enc | quote }}
  toYamlPretty.{{ $i }}: {{ toYamlPretty $value | b64enc | quote }}
  toJson.{{ $i }}: {{ toJson $value | b64enc | quote }}
{{- end }}
`

/** Renders one chart that reads all texts and writes all values. */
export function askHelm(
  helm: 'helm' | 'helm3',
  { texts = [], values = [] }: { texts?: readonly string[]; values?: readonly unknown[] },
): HelmAnswers {
  const chart = mkdtempSync(join(tmpdir(), 'flotilla-yaml-'))
  try {
    mkdirSync(join(chart, 'templates'))
    writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: yaml\nversion: 1.0.0\n')
    writeFileSync(join(chart, 'templates/answers.yaml'), TEMPLATE)
    writeFileSync(join(chart, 'cases.json'), goJson({ texts, values }))
    const out = execFileSync(needBinary(helm), ['template', 'x', chart], { encoding: 'utf8', maxBuffer: 2 ** 28 })
    const answers: Record<keyof HelmAnswers, string[]> = { fromYaml: [], toYaml: [], toYamlPretty: [], toJson: [] }
    for (const [, name, index, text] of out.matchAll(/^ {2}(\w+)\.(\d+): "(.*)"$/gm)) {
      answers[name as keyof HelmAnswers][Number(index)] = Buffer.from(text!, 'base64').toString('utf8')
    }
    return answers
  } finally {
    rmSync(chart, { recursive: true })
  }
}

/** What `kubectl kustomize` prints for these resources, in their order. */
export function askKustomize(resources: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-yaml-'))
  try {
    const names = resources.map((_, i) => `r${i}.yaml`)
    resources.forEach((text, i) => writeFileSync(join(folder, names[i]!), text))
    const list = names.map((name) => `- ${name}\n`).join('')
    writeFileSync(join(folder, 'kustomization.yaml'), `sortOptions:\n  order: fifo\nresources:\n${list}`)
    return execFileSync(needBinary('kubectl'), ['kustomize', folder], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
