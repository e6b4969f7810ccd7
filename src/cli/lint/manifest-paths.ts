/** Files below a path that can hold objects. Templates of charts are excluded, because they are not YAML yet. */
export function manifestPaths(files: ReadonlyMap<string, Uint8Array>, inside: string): string[] {
  const charts = [...files.keys()]
    .filter((path) => path === 'Chart.yaml' || path.endsWith('/Chart.yaml'))
    .map((path) => path.slice(0, -'Chart.yaml'.length))
  return [...files.keys()].filter(
    (path) =>
      (inside === '' || path === inside || path.startsWith(`${inside}/`)) &&
      /\.(ya?ml|json)$/.test(path) &&
      !charts.some((chart) => path.startsWith(`${chart}templates/`) || path.startsWith(`${chart}charts/`)),
  )
}
