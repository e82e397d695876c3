// What gonum.org/v1/hdf5 lacks: layout, chunks, filters, raw chunks, fast listing, error text.
#ifndef SOLARFS_LIBHDF5_H
#define SOLARFS_LIBHDF5_H
#include <hdf5.h>
#include <stdint.h>

enum { SF_DIMS = 32, SF_FILTERS = 32, SF_VALUES = 8, SF_NAME = 40 };

typedef struct {
	int id, available;
	unsigned values[SF_VALUES];
	char name[SF_NAME];
} sf_filter;

// sf_info is all that decides how one dataset can be read.
typedef struct {
	int space, rank;
	uint64_t dims[SF_DIMS], chunk[SF_DIMS];
	int type, order, is_signed;
	uint64_t size, precision, bit_offset;
	uint64_t sign_pos, exp_pos, exp_size, man_pos, man_size, exp_bias; // floats only
	int implied_one, is_variable;
	int layout, external, nfilters;
	unsigned chunk_opts;
	sf_filter filters[SF_FILTERS];
	uint64_t offset;  // of contiguous data, user block included; HADDR_UNDEF where there is none
	uint64_t storage; // bytes
	uint64_t header;  // object header, user block not included
	unsigned long fileno;
} sf_info;

typedef struct {
	uint64_t user_block, root;
	int addr_bytes, length_bytes;
	unsigned long fileno;
} sf_file_info;

// sf_link is one entry of a group. type: -1 where the link does not resolve.
typedef struct {
	char *name;
	int link, type;
	uint64_t address;
	unsigned long fileno;
} sf_link;

typedef struct {
	sf_link *at;
	size_t n, cap;
} sf_links;

void sf_tame_malloc(void);
void sf_quiet(void);
void sf_error(char *text, size_t cap);
int sf_list(hid_t group, sf_links *out);
void sf_free_links(sf_links *l);
int sf_describe(hid_t dataset, sf_info *out);
int sf_file(hid_t file, sf_file_info *out);
int sf_read_rows(hid_t dataset, uint64_t row, uint64_t rows, void *dst);
int sf_chunk_size(hid_t dataset, const hsize_t *at, uint64_t *size);
int sf_read_chunk(hid_t dataset, const hsize_t *at, uint32_t *mask, void *dst);
#endif
