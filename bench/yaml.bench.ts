/**
 * How fast YAML is read and written: node bench/yaml.bench.ts [DIR]. Without a folder it makes a fleet's repository of
 * its own; with one it takes all YAML files below it that can be read.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readNodes, readYaml } from '../src/yaml/read/read-yaml.ts'
import { writeNodes, writeYaml } from '../src/yaml/write/write-yaml.ts'
import { YamlError } from '../src/yaml/yaml.ts'

const ROUNDS = 5

function deployment(i: number): string {
  const env = Array.from(
    { length: 12 },
    (_, k) => `        - name: VARIABLE_${k}\n          value: "value ${i} of ${k}"\n`,
  )
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-${i} # of team ${i % 7}
  labels: {app: app-${i}, tier: backend}
spec:
  replicas: ${i % 5}
  template:
    spec:
      containers:
      - name: main
        image: registry.example.com/team/app:${i}
        args: [--port=8080, '--name=app ${i}']
        env:
${env.join('')}---
apiVersion: v1
kind: ConfigMap
metadata:
  name: app-${i}
data:
  settings.conf: |
    # settings of app ${i}
    listen = 0.0.0.0:8080
    workers = ${i}
`
}

function textsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter(isReadable)
}

function isReadable(text: string): boolean {
  try {
    readYaml(text, { duplicateKeys: 'last' })
    readNodes(text, { resolver: '1.2' })
    return true
  } catch (error) {
    if (error instanceof YamlError) return false
    throw error
  }
}

const folder = process.argv[2]
const texts = folder === undefined ? Array.from({ length: 5_000 }, (_, i) => deployment(i)) : textsBelow(folder)
const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
console.log(`${texts.length} files, ${megabytes.toFixed(1)} MB`)

function measure(name: string, run: () => void): void {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    run()
    best = Math.min(best, process.cpuUsage(before).user / 1_000)
  }
  const speed = (megabytes / best) * 1_000
  console.log(`${name.padEnd(34)}${best.toFixed(0).padStart(7)} ms CPU ${speed.toFixed(1).padStart(7)} MB/s`)
}

const values = texts.map((text) => readYaml(text, { duplicateKeys: 'last' }).map((document) => document.value))
const trees = texts.map((text) => readNodes(text, { resolver: '1.2' }))
measure('read as kubectl and Helm do', () => texts.forEach((text) => readYaml(text, { duplicateKeys: 'last' })))
measure('read trees with comments', () => texts.forEach((text) => readNodes(text, { resolver: '1.2' })))
measure('write as kubectl and Helm do', () =>
  values.forEach((documents) => documents.forEach((value) => writeYaml(value))),
)
measure('write trees with comments', () => trees.forEach((nodes) => writeNodes(nodes)))
