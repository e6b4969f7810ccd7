import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The hub serves the files as they are built; nothing is fetched from elsewhere, and no text becomes a style or script.
export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
})
