// nonce is what the page's Content-Security-Policy lets style elements in by: libraries that make their own need it.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
